"""Charts over scores of spans, which a neural model computes: no grammar."""

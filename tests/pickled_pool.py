"""A pool of workers in this process, for tests: whatever would go to another process is pickled."""

import pickle


class PickledPool:
    """What `WorkerPool` offers, without processes."""

    def __init__(self, prepare, n_process, most_deaths=0):
        self.function = pickle.loads(pickle.dumps(prepare))()

    def run(self, tasks, **options):
        for task in tasks:
            yield pickle.loads(pickle.dumps((task, self.function(task))))

    def close(self):
        pass

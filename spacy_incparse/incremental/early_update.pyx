"""The perceptron with early update (Collins & Roark 2004, figures 1 and 4, section 4.2) and its alternatives."""

from libc.math cimport ceil
from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint32_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from spacy_incparse.incremental.config import UPDATES

from spacy_incparse.incremental.beam cimport Beam
from spacy_incparse.incremental.sentence cimport Sentence
from spacy_incparse.incremental.left_context cimport context_of
from spacy_incparse.incremental.move_effect cimport LowestC, attach_chain, end_lowest, lowest_at
from spacy_incparse.incremental.state cimport ROOT, SENTINEL, SentenceC
from spacy_incparse.linear.weights cimport AveragedWeights


# The moves of a derivation, word by word.
cdef struct PrefixC:
    vector[int32_t] n_closings
    vector[int32_t] chain_ids


cdef class Replay:
    """Derivations of a beam's model, as closings and chain ids by word."""

    cdef Beam beam            # whose frames and scorer are used; a search of its has begun
    cdef LowestC lowest       # open constituent
    cdef vector[uint32_t] features

    def __init__(self, Beam beam):
        self.beam = beam

    def features_of(self, Sentence sentence, n_closings, chain_ids):
        """Return the features, as indices of the weight table, of a whole derivation."""
        cdef PrefixC path
        fill(&path, n_closings, chain_ids)
        self.beam.scorer.begin(sentence)
        self.beam.start(&sentence.c)
        self.features.clear()
        self.append(&sentence.c, &path, 0, sentence.c.n, True, &self.features)
        return list(self.features)

    def scores_of(self, Sentence sentence, n_closings, chain_ids):
        """Return the scores, in table units, of the first moves of a sentence: (of closings, of the chain) by word.

        With the moves of all words, the last pair is for the end of the sentence. Threads take turns.
        """
        cdef PrefixC path
        cdef int64_t of_closings
        cdef int i, _
        fill(&path, n_closings, chain_ids)
        scores = []
        with self.beam.scorer.lock:
            self.beam.scorer.begin(sentence)
            self.beam.start(&sentence.c)
            self.lowest = lowest_at(&self.beam.frames, ROOT)
            self._take_score()
            for i in range(<int>path.chain_ids.size()):
                self._start_word(&sentence.c, i, &path)
                for _ in range(path.n_closings[i]):
                    self._stop(&self.features)
                    self._close(&sentence.c)
                of_closings = self._take_score()
                self._chain(path.chain_ids[i], &self.features)
                self._attach(&sentence.c, i, path.chain_ids[i])
                scores.append((of_closings, self._take_score()))
            if <int>path.chain_ids.size() == sentence.c.n:
                self._start_word(&sentence.c, sentence.c.n, &path)
                self._end(&sentence.c, &self.features)
                scores.append((self._take_score(), 0))
        return scores

    cdef void append(
        self, const SentenceC* sentence, const PrefixC* path, int first, int last, bint complete,
        vector[uint32_t]* features
    ) noexcept nogil:
        """Append the features of the moves at words first..last - 1, and of the closings at the end if complete.

        What of their score is no feature is left in the scorer's `other_total`.
        """
        cdef size_t mark = self.beam.frames.size()
        cdef int i, _
        self.beam.scorer.other_total = 0
        self.lowest = lowest_at(&self.beam.frames, ROOT)
        for i in range(last):
            if i >= first:
                self._start_word(sentence, i, path)
            for _ in range(path.n_closings[i]):
                if i >= first:
                    self._stop(features)
                self._close(sentence)
            if i >= first:
                self._chain(path.chain_ids[i], features)
            self._attach(sentence, i, path.chain_ids[i])
        if complete:
            self._start_word(sentence, last, path)
            self._end(sentence, features)
        self.beam.frames.resize(mark)

    cdef int64_t score(self, const vector[uint32_t]* features) noexcept nogil:
        """Return the score of what was appended last, whose features these are, in table units."""
        cdef int64_t total = self.beam.scorer.other_total
        cdef size_t k
        for k in range(features.size()):
            total += self.beam.scorer.table[features[0][k]]
        return total

    cdef int64_t _take_score(self) noexcept nogil:
        """Return the score of what was appended since this was asked last."""
        cdef int64_t total = self.score(&self.features)
        self.features.clear()
        self.beam.scorer.other_total = 0
        return total

    cdef void _start_word(self, const SentenceC* sentence, int i, const PrefixC* path) noexcept nogil:
        """Go to the position before a word, under the tag that the path absorbs it under; the end has one."""
        cdef int k, tag, alternative = sentence.first_alternative[i]
        if i < <int>path.chain_ids.size():
            tag = self.beam.moves.tagged_chains[path.chain_ids[i]].tag
            for k in range(sentence.first_alternative[i], sentence.first_alternative[i + 1]):
                if sentence.alternative_tags[k] == tag:
                    alternative = k
                    break
        self.beam.scorer.start_word(sentence, i, alternative, False)

    cdef void _stop(self, vector[uint32_t]* features) noexcept nogil:
        context = context_of(&self.lowest.frame, self.beam.frames.data())
        self.beam.scorer.emit_stop(&context, features)

    cdef void _close(self, const SentenceC* sentence) noexcept nogil:
        end_lowest(&self.lowest, self.beam.frames.data(), sentence, &self.beam.moves.symbols)

    cdef void _end(self, const SentenceC* sentence, vector[uint32_t]* features) noexcept nogil:
        """Close all that is open, the root last."""
        self._stop(features)
        while self.lowest.frame.parent != SENTINEL:
            self._close(sentence)
            self._stop(features)

    cdef void _chain(self, int32_t chain_id, vector[uint32_t]* features) noexcept nogil:
        context = context_of(&self.lowest.frame, self.beam.frames.data())
        self.beam.scorer.emit_chain(&context, chain_id, features)

    cdef void _attach(self, const SentenceC* sentence, int i, int32_t chain_id) noexcept nogil:
        """Put a chain with its word on the lowest constituent."""
        attach_chain(
            &self.lowest, &self.beam.moves.tagged_chains[chain_id], self.beam.moves.chain_labels.data(), i, i,
            &self.beam.frames, sentence, &self.beam.moves.symbols,
        )


cdef int fill(PrefixC* path, n_closings, chain_ids) except -1:
    path.n_closings = n_closings
    path.chain_ids = chain_ids
    return 0


cdef enum:  # in the order of UPDATES
    EARLY, MAX_VIOLATION, FULL


cdef class Perceptron:
    """Online learning of a beam's weights.

    update: "early" stops at the word where the gold analysis falls out of the beam (section 4.2); "max_violation" goes
    to the word where the best analysis leads the gold one by most (Huang et al. 2012); "full" compares whole parses.
    margin: by how much, in weights, the gold parse has to lead the second best; where it leads by less, there is an
    update against that one. 0: being the best is enough.
    """

    cdef readonly Beam beam
    cdef readonly AveragedWeights weights
    cdef readonly Replay replay
    cdef int rule
    cdef int64_t margin   # in units of the weight table
    cdef int rival        # rank of the complete parse that gold is compared with
    cdef vector[uint32_t] features, other_features

    def __init__(self, Beam beam, AveragedWeights weights, update="early", double margin=0.0):
        self.beam, self.weights, self.replay = beam, weights, Replay(beam)
        self.rule = UPDATES.index(update)
        self.margin = <int64_t>ceil(margin * weights.scale)  # scores are whole: a lead of 3 is less than 3.5

    def learn(self, Sentence sentence, n_closings, chain_ids, int n_candidates=0):
        """Search one sentence and update where the gold moves lose. Counts as a step of the average.

        chain_ids: -1 for a word whose chain the grammar does not have; what comes before it is still learnt from.
        Return whether there was an update; the n_candidates best analyses at its point, each as (closings, chain_ids),
        for repeated use; and whether they are whole parses. Where gold was best there are no candidates.
        """
        cdef PrefixC gold, guess
        cdef int point, n
        cdef int32_t best
        cdef bint updated = False
        fill(&gold, n_closings, chain_ids)
        self.beam.scorer.begin(sentence)
        with nogil:
            point = self.search_gold(&sentence.c, &gold)
            n = min(point, sentence.c.n)
            if point >= 0:
                if point > sentence.c.n:
                    best = self.beam.final[self.rival].step.previous
                else:
                    best = self.beam.levels[n]
                self.beam.moves_to(best, &guess.n_closings, &guess.chain_ids)
                updated = self.update(&sentence.c, &gold, &guess, n, point > sentence.c.n)
        candidates = self._candidates(point, n, n_candidates) if updated and n_candidates else []
        self.weights.step()
        return updated, candidates, point > n

    def _candidates(self, int point, int n, int n_candidates):
        cdef vector[int32_t] n_closings, chain_ids
        cdef int k
        if point > n:
            chosen = [self.beam.final[k].step.previous for k in range(min(n_candidates, <int>self.beam.final.size()))]
        else:
            first, behind = self.beam.levels[n], self.beam.levels[n + 1]
            chosen = list(range(first, min(first + n_candidates, behind)))
        result = []
        for hypothesis in chosen:
            self.beam.moves_to(hypothesis, &n_closings, &chain_ids)
            result.append((list(n_closings), list(chain_ids)))
        return result

    def relearn(self, Sentence sentence, gold_moves, candidates, bint complete):
        """Update towards gold where another of the stored candidates scores higher (figure 4, step 2).

        gold_moves: (closings, chain_ids) of the whole sentence; the candidates' length says how much of it counts.
        Return whether there was an update.
        """
        cdef PrefixC gold, guess
        cdef int64_t best_score = INT64_MIN, score
        cdef int n = len(candidates[0][0])
        best = None
        self.beam.scorer.begin(sentence)
        self.beam.start(&sentence.c)  # there are no frames before the first search
        for candidate in candidates:
            fill(&guess, candidate[0], candidate[1])
            self.features.clear()
            self.replay.append(&sentence.c, &guess, 0, n, complete, &self.features)
            score = self.replay.score(&self.features)
            if score > best_score:
                best_score, best = score, candidate
        fill(&gold, gold_moves[0], gold_moves[1])
        self.features.clear()
        self.replay.append(&sentence.c, &gold, 0, n, complete, &self.features)
        if self.replay.score(&self.features) > best_score:
            return False
        fill(&guess, best[0], best[1])
        return self.update(&sentence.c, &gold, &guess, n, complete)

    def features_of(self, Sentence sentence, n_closings, chain_ids):
        """Return the features, as indices of the weight table, of a whole derivation."""
        return self.replay.features_of(sentence, n_closings, chain_ids)

    cdef int search_gold(self, const SentenceC* sentence, const PrefixC* gold) noexcept nogil:
        """Search while following the gold moves, and return the point of the update.

        That is the number of words whose moves are compared, n + 1 for complete parses, or -1 where gold is best.
        """
        cdef vector[int32_t] gold_at   # the gold hypothesis after each word; -1 where it fell out
        cdef int n = 0, gold_hypothesis = 0
        self.beam.start(sentence)
        gold_at.push_back(0)
        while n < sentence.n:
            if gold.chain_ids[n] < 0:
                # The grammar lacks this word's chain: what comes before it is compared.
                if self.rule == MAX_VIOLATION:
                    return self._most_violated(sentence, gold, &gold_at, n)
                return -1 if self.beam.levels[n] == gold_hypothesis else n
            self.beam.advance()
            n += 1
            gold_hypothesis = self._gold_successor(gold_hypothesis, gold)
            gold_at.push_back(gold_hypothesis)
            if gold_hypothesis < 0 and self.rule == EARLY:
                return n
        self.beam.finish()
        self.rival = 0
        if (
            self.margin and self.beam.final.size() > 1 and self.beam.final[0].step.previous == gold_hypothesis
            and self.beam.final[0].score - self.beam.final[1].score < self.margin
        ):
            self.rival = 1
            return n + 1
        if self.rule == MAX_VIOLATION:
            return self._most_violated(sentence, gold, &gold_at, n + 1)
        return -1 if self.beam.final[0].step.previous == gold_hypothesis else n + 1

    cdef int _gold_successor(self, int gold_hypothesis, const PrefixC* gold) noexcept nogil:
        cdef int word = <int>self.beam.levels.size() - 3, k
        if gold_hypothesis < 0:
            return -1
        for k in range(self.beam.levels[word + 1], self.beam.levels[word + 2]):
            if (
                self.beam.hypotheses[k].step.previous == gold_hypothesis
                and self.beam.hypotheses[k].step.chain_id == gold.chain_ids[word]
                and self.beam.hypotheses[k].step.n_closings == gold.n_closings[word]
            ):
                return k
        return -1

    cdef int _most_violated(
        self, const SentenceC* sentence, const PrefixC* gold, const vector[int32_t]* gold_at, int last
    ) noexcept nogil:
        """Return the point, at most `last`, where the best analysis leads gold by most.

        A lead of 0 counts, or learning would never start.
        """
        cdef int n, point = -1
        cdef int64_t gold_score = 0, lead, most = -1
        for n in range(1, last + 1):
            self.features.clear()
            self.replay.append(
                sentence, gold, min(n - 1, sentence.n), min(n, sentence.n), n > sentence.n, &self.features
            )
            gold_score += self.replay.score(&self.features)
            if n <= sentence.n:
                lead = self.beam.hypotheses[self.beam.levels[n]].score - gold_score
                if self.beam.levels[n] == gold_at[0][n]:
                    continue
            else:
                lead = self.beam.final[0].score - gold_score
                if self.beam.final[0].step.previous == gold_at[0][sentence.n]:
                    continue
            if lead > most:
                most, point = lead, n
        return point

    cdef bint update(
        self, const SentenceC* sentence, const PrefixC* gold, const PrefixC* guess, int n, bint complete
    ) noexcept nogil:
        """w += Phi(gold) - Phi(guess) (figure 1) over the first n words; what both have in common cancels out."""
        cdef int first = 0
        while (
            first < n
            and gold.n_closings[first] == guess.n_closings[first]
            and gold.chain_ids[first] == guess.chain_ids[first]
        ):
            first += 1
        if first == n:
            return False
        self.features.clear()
        self.other_features.clear()
        self.replay.append(sentence, gold, first, n, complete, &self.features)
        self.replay.append(sentence, guess, first, n, complete, &self.other_features)
        self._add_difference()
        return True

    cdef void _add_difference(self) noexcept nogil:
        """Change each weight once, by how much oftener its feature is in `features` than in `other_features`."""
        cdef size_t k = 0, other = 0, n, n_others
        cdef uint32_t feature
        cdef int change
        sort(self.features.begin(), self.features.end())
        sort(self.other_features.begin(), self.other_features.end())
        n, n_others = self.features.size(), self.other_features.size()
        while k < n or other < n_others:
            if other == n_others or (k < n and self.features[k] < self.other_features[other]):
                feature = self.features[k]
            else:
                feature = self.other_features[other]
            change = 0
            while k < n and self.features[k] == feature:
                change += 1
                k += 1
            while other < n_others and self.other_features[other] == feature:
                change -= 1
                other += 1
            if change:
                self.weights.add(feature, change)

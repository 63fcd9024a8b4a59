"""Lost events by the sequence numbers: the algorithm of nettrace.md section 10.3, word for word.

Numbers are per capture thread.  They tell *how many* events a thread lost, not where (section 10.2).
"""

MASK = 0xFFFFFFFF
HALF = 0x80000000       # a step this large or larger is a step back


class _Thread:
    __slots__ = ("last", "old")

    def __init__(self, number):
        self.last = number
        self.old = None          # last number of the previous owner of a reused thread id


class LossCounter:
    """Feed it every event and every sequence-point entry in file order."""

    def __init__(self):
        self._threads = {}
        self.lost = {}           # thread -> events lost; survives forget()
        self.irregular = 0       # steps back that are no reuse: the count is then not verified

    @property
    def total(self):
        return sum(self.lost.values())

    def event(self, thread, number):
        state = self._threads.get(thread)
        if state is None:
            self._add(thread, number - 1)
            self._threads[thread] = _Thread(number)
            return
        step = (number - state.last - 1) & MASK
        if step < HALF:
            self._add(thread, step)
            state.last = number
        elif number == 1:
            state.old, state.last = state.last, 1
        else:
            self.irregular += 1

    def sequence_point(self, thread, number):
        """One entry of a sequence point (or of a V6 RemoveThread block): a lower bound of the attempted number."""
        state = self._threads.get(thread)
        if state is None:
            self._add(thread, number)
            self._threads[thread] = _Thread(number)
            return
        if number == state.old:
            return
        step = (number - state.last) & MASK
        if 0 < step < HALF:
            self._add(thread, step)
            state.last = number

    def forget(self, thread=None):
        """V6 only: the index (or every index) may be given to another thread from now on."""
        if thread is None:
            self._threads.clear()
        else:
            self._threads.pop(thread, None)

    def _add(self, thread, count):
        count &= MASK
        if count:
            self.lost[thread] = self.lost.get(thread, 0) + count

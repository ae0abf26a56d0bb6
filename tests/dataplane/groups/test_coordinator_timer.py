"""CoordinatorTimer move cheaply, and never fire early, late or twice."""

import heapq

from hypothesis import given
from hypothesis import strategies as st

from dataplane.groups.coordinator_timer import CoordinatorTimer


def test_moving_forward_costs_no_heap_entry(monkeypatch):
    pushed = []
    real = heapq.heappush
    monkeypatch.setattr(heapq, "heappush", lambda heap, entry: pushed.append(real(heap, entry)))
    deadlines = CoordinatorTimer()
    for due in range(100, 1100):
        deadlines.set(("a",), due)
    assert len(pushed) == 1
    assert deadlines.expire(1098) == []
    assert deadlines.expire(1099) == [("a",)]


def test_moving_backward_fires_at_the_earlier_time():
    deadlines = CoordinatorTimer()
    deadlines.set(("a",), 100)
    deadlines.set(("a",), 50)
    assert deadlines.next_ms() == 50
    assert deadlines.expire(50) == [("a",)]
    assert deadlines.expire(200) == []
    assert deadlines.next_ms() is None


steps = st.lists(
    st.tuples(
        st.sampled_from(["set", "cancel", "advance"]), st.sampled_from("abc"), st.integers(0, 50)
    ),
    max_size=60,
)


@given(steps)
def test_it_behaves_as_a_dictionary_of_times(script):
    deadlines, model, now = CoordinatorTimer(), {}, 0
    for verb, name, number in script:
        key = (name,)
        if verb == "set":
            deadlines.set(key, now + number)
            model[key] = now + number
        elif verb == "cancel":
            deadlines.cancel(key)
            model.pop(key, None)
        else:
            now += number
            due = sorted((when, key) for key, when in model.items() if when <= now)
            assert deadlines.expire(now) == [key for _, key in due]
            for _, key in due:
                del model[key]
        earliest = deadlines.next_ms()
        if model:
            assert earliest is not None
            assert earliest <= min(model.values())
        else:
            assert earliest is None

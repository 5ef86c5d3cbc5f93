# SPDX-License-Identifier: Apache-2.0
"""profiler.Span: the leanest mark, nested, on several threads, misused."""
import json
import threading

import mxnet as mx
import pytest


@pytest.fixture
def trace(tmp_path):
    """Runs a function while the profiler does; the complete spans of category 'python', but for those of the garbage collector."""
    def run(body):
        path = tmp_path / "spans.json"
        mx.profiler.set_config(filename=str(path), continuous_dump=False)
        mx.profiler.set_state("run")
        body()
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        events = json.loads(path.read_text())["traceEvents"]
        return [event for event in events if event.get("cat") == "python" and event["name"] != "garbage collection"]
    return run


def test_each_pass_is_a_span(trace):
    span = mx.profiler.Span("pass")

    def body():
        for _ in range(3):
            with span:
                pass
        span.start()
        span.stop()
    events = trace(body)
    assert [event["name"] for event in events] == ["pass"] * 4
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)


def test_a_span_nests_in_itself(trace):
    span = mx.profiler.Span("deep")

    def descend(depth):
        with span:
            if depth > 1:
                descend(depth - 1)
    events = trace(lambda: descend(9))
    assert len(events) == 9
    events.sort(key=lambda event: (event["ts"], -event["dur"]))
    for outer, inner in zip(events, events[1:]):
        assert outer["ts"] <= inner["ts"]
        assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 1e-6


def test_threads_share_a_span(trace):
    span = mx.profiler.Span("shared")
    inside = threading.Barrier(4)

    def work():
        span.start()
        inside.wait()
        span.stop()

    def body():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    events = trace(body)
    assert len(events) == 4
    assert len({event["tid"] for event in events}) == 4


def test_a_decorated_function_is_a_span(trace):
    @mx.profiler.Span("twice")
    def double(value):
        """Two times."""
        return 2 * value
    assert double.__doc__ == "Two times."
    results = []
    assert len(trace(lambda: results.append(double(4)))) == 1
    assert results == [8]


def test_a_span_ends_when_its_body_raises(trace):
    def body():
        with pytest.raises(KeyError), mx.profiler.Span("failing"):
            raise KeyError("x")
    assert len(trace(body)) == 1


def test_a_stop_without_a_start_is_an_error():
    span = mx.profiler.Span("never")
    with pytest.raises(mx.MXNetError, match="without a start on this thread"):
        span.stop()
    span.start()
    other = []

    def stop_elsewhere():
        try:
            span.stop()
        except mx.MXNetError as error:
            other.append(str(error))
    thread = threading.Thread(target=stop_elsewhere)
    thread.start()
    thread.join()
    assert "without a start on this thread" in other[0]
    span.stop()


def test_nothing_is_recorded_while_off(trace):
    span = mx.profiler.Span("off")
    span.start()
    span.stop()
    assert trace(lambda: None) == []

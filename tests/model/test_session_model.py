# SPDX-License-Identifier: Apache-2.0
"""Random programs against what they say they have recorded; a seed that fails is named, with the command that plays it
again and again. 40 seeds, 1,000 with MXPROF_TEST_LONG=1; MXPROF_MODEL_SEEDS overrides."""
import concurrent.futures
import os
import pathlib
import shutil

import pytest

import session_check

LONG = os.environ.get("MXPROF_TEST_LONG") == "1"
SEEDS = int(os.environ.get("MXPROF_MODEL_SEEDS", 1000 if LONG else 40))


def failure_of(seed, folder):
    """None, or what is wrong; whatever cannot be read is wrong too."""
    folder.mkdir()
    try:
        session_check.run(seed, folder)
    except Exception as error:  # pylint: disable=broad-except
        return f"seed {seed}: {type(error).__name__} {error} [{folder}]"
    shutil.rmtree(folder)
    return None


def failures(seeds, folder):
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(failure_of, seed, folder / str(seed)) for seed in seeds]
        return [job.result() for job in jobs if job.result() is not None]


def report(failed):
    """What a log that is cut short must show comes first: a seed, its difference, and how to repeat it."""
    first, _, more = failed[0].partition("\n")
    seed = first.split(":")[0].removeprefix("seed ")
    again = (f"MXPROF_BUILD={session_check.BUILD} MXPROF_SOURCE={session_check.SOURCE.resolve()} "
             f"python {pathlib.Path(session_check.__file__).resolve()} {seed} 1000")
    return "\n".join([first, f"up to 1000 times: {again}", f"{len(failed)} of {SEEDS} programs differ", more, *failed[1:]])


@pytest.mark.timeout(1800)
def test_every_output_counts_what_the_program_has_recorded(tmp_path):
    failed = failures(range(1, SEEDS + 1), tmp_path)
    if failed:
        pytest.fail(report(failed), pytrace=False)

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A test suite that needs the card, from a CI's runner on this machine:   examples/ci.sh ctest -L gpu
# All of the CI's jobs are one session, so that they take turns with people's work instead of crowding it out. Code 75: no
# lane within the time, nothing was tested.
#
#     gpu-tests:                                   GitLab
#       tags: [gpu]
#       script: examples/ci.sh ctest -L gpu
#       allow_failure: {exit_codes: 75}
#
#     gpu-tests:                                   GitHub
#       runs-on: [self-hosted, gpu]
#       steps:
#         - uses: actions/checkout@v4
#         - run: examples/ci.sh ctest -L gpu
exec pgpu run --as ci --class test --name "${CI_JOB_NAME:-${GITHUB_JOB:-tests}}" --max-wait "${CI_GPU_WAIT:-30m}" \
	--limit "${CI_GPU_LIMIT:-20m}" -- "$@"

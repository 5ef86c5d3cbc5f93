mxprof report --layout mxnet --json --percentiles sample.mxp | python3 -c "import json, sys; print(sorted(json.load(sys.stdin)))"

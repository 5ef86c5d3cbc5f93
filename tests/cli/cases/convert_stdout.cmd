mxprof convert sample.mxp -o - | python3 -c "import json, sys; print(len(json.load(sys.stdin)[\"traceEvents\"]) > 20)"

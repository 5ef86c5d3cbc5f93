mxprof report --layout mxnet --per-process --json several > all.json && python3 -c 'import json; print([r["Report"]["Process"] for r in json.load(open("all.json"))])'

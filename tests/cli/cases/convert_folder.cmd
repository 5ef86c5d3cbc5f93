mxprof convert several -o table.txt && cat table.txt

mxprof convert sample.mxp --output out.txt && cat out.txt

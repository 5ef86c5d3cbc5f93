mxprof report --by step --step 0: sample.mxp

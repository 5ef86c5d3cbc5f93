mxprof report --step 99 sample.mxp

mxprof show --step 1 sample.mxp

mxprof show --step 7 sample.mxp

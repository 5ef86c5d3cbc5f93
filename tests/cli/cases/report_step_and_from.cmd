mxprof report --step 1 --from 1s sample.mxp

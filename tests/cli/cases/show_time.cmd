mxprof show --from 1.1 --until 1.4 sample.mxp

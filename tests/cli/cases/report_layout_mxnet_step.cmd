mxprof report --layout mxnet --step 2 sample.mxp

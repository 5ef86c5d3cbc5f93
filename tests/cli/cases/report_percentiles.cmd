mxprof report --layout mxnet --percentiles sample.mxp

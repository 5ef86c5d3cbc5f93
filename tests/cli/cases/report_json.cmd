mxprof report --layout mxnet --json --percentiles sample.mxp

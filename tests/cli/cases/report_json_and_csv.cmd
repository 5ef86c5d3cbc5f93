mxprof report --layout mxnet --json --csv sample.mxp

mxprof report --layout mxnet --csv sample.mxp

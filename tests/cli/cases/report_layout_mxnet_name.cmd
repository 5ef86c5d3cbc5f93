mxprof report --layout mxnet --name work sample.mxp

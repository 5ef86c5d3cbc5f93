mxprof merge several/first.mxp several/second.mxp -o all.mxp && mxprof report --layout mxnet all.mxp

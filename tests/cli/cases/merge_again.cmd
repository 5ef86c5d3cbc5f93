mxprof merge several/first.mxp several/second.mxp -o all.mxp && mxprof merge all.mxp sample.mxp -o more.mxp; mxprof report --layout mxnet more.mxp | head -8

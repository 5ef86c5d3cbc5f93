mxprof merge several/first.mxp sample.mxp -o sample.mxp

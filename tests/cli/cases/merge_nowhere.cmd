mxprof merge several

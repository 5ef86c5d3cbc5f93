mxprof convert --from 1.2 --until 1.3 sample.mxp -o -

mxprof zzzzzzzz sample.mxp

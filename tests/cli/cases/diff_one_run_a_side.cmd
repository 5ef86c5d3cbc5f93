mxprof diff several/first.mxp -- several/second.mxp

#pragma once
/// Documents of the LSHTC challenges, the hierarchical classification problem of Zhong et al. 2014,
/// section 6.2. One document a line,
///
///     leaf 0:<document id> feature:value feature:value ...
///
/// where a leaf is one of the hierarchy file (hierarchy_file.h), a feature is an integer of at least 1 and a
/// value a number of at least 0, here a term's frequency. A value of 0 is as if the entry were not there. A
/// negative one is an error: nothing that is counted is negative, and values are scaled to [0, 1] by their
/// maximum.
///
/// Field 0 is the document's id. The challenge says to ignore it; the authors of Prox-QN kept it as one more
/// feature, scaled as (id - min) / (max - min) over the training set, whatever the option `scale`. With
/// `keep_doc_id` it is feature "0", else it is dropped, as it may be missing.
///
/// The registered format is lshtc_format() in readers.h.

#include "experiments/data/readers.h"

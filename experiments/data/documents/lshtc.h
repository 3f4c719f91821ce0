#pragma once
/// Documents of the LSHTC challenges: the hierarchical classification problem of Zhong et al. 2014, section
/// 6.2. One document per line,
///
///     leaf 0:<document id> feature:value feature:value ...
///
/// where the leaf is in the hierarchy file (hierarchy_file.h), a feature is an integer of at least 1, and a
/// value is a number of at least 0, here a term frequency. An entry with value 0 is ignored. A negative value
/// is an error: counts are not negative, and values are scaled to [0, 1] by their maximum.
///
/// Field 0 is the document's id. The challenge says to ignore it. The authors of Prox-QN kept it as an
/// additional feature, scaled as (id - min) / (max - min) over the training set. With `keep_doc_id` it
/// becomes feature "0" in this way, whatever `scale` is. Otherwise it is dropped, and may be missing.
///
/// The registered format is lshtc_format() in readers.h.

#include "experiments/data/readers.h"

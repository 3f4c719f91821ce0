#pragma once
/// From files to data that have been judged: how whatever runs gets its data.

#include <string>

#include "core/data/data_format.h"

namespace proxbench {

/// What the format reads, checked by check_data(). `oracle`: in place of the format's, "" for that; the
/// digests of the data are then those of another problem (digest_with_oracle). Digests of a plug-in's data
/// are made here. Throws Error, before anything is read where the oracle is unknown.
/// Of a format that can, each of several processes reads a part of the training files
/// (DataFormatInfo::read_share).
DataPair read_data(const DataFormatInfo& format, const DataFiles& files, const Options& options,
                   const std::string& oracle = "", const Processes* processes = nullptr);

}  // namespace proxbench

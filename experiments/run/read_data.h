#pragma once
/// Reads data from files and checks it. Every run gets its data this way.

#include <string>

#include "core/data/data_format.h"

namespace proxbench {

/// Reads data in the format and checks it with check_data(). A nonempty `oracle` replaces the format's
/// oracle. The digests then differ, because the problem is another one (digest_with_oracle). This function
/// also computes the digests of a plug-in's data. If the format supports it, each of several processes reads
/// only a part of the training files (DataFormatInfo::read_share). Throws Error; if the oracle is unknown,
/// before it reads anything.
DataPair read_data(const DataFormatInfo& format, const DataFiles& files, const Options& options,
                   const std::string& oracle = "", const Processes* processes = nullptr);

}  // namespace proxbench

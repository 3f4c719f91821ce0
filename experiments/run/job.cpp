#include "experiments/run/job.h"

namespace proxbench {

nlohmann::ordered_json Job::to_json() const {
  nlohmann::ordered_json json{{"name", name},
                              {"data",
                               {{"format", format},
                                {"train", files.train},
                                {"test", files.test},
                                {"hierarchy", files.hierarchy},
                                {"oracle", oracle},
                                {"decoding", decoding},
                                {"options", data_options}}},
                              {"solver", solver},
                              {"options", solver_options},
                              {"lambda", lambda},
                              {"mu", mu},
                              {"tol", tol},
                              {"gap", gap},
                              {"tighten", tighten},
                              {"time_limit", time_limit},
                              {"max_iterations", max_iterations},
                              {"objective_target", nullptr},
                              {"sample_kkt", sample_kkt},
                              {"profile", profile},
                              {"sampling_budget", sampling_budget},
                              {"warm_up", warm_up},
                              {"seed", seed},
                              {"threads", threads},
                              {"backend", backend},
                              {"plugins", plugins}};
  if (objective_target) json["objective_target"] = *objective_target;
  if (!path.empty()) json[path_of_mu ? "mu" : "lambda"] = path;
  return json;
}

Job Job::from_json(const nlohmann::json& json) {
  Job job;
  const nlohmann::json& data = json.at("data");
  json.at("name").get_to(job.name);
  data.at("format").get_to(job.format);
  data.at("train").get_to(job.files.train);
  data.at("test").get_to(job.files.test);
  data.at("hierarchy").get_to(job.files.hierarchy);
  data.at("oracle").get_to(job.oracle);
  data.at("decoding").get_to(job.decoding);
  data.at("options").get_to(job.data_options);
  json.at("solver").get_to(job.solver);
  json.at("options").get_to(job.solver_options);
  if (json.at("lambda").is_string())
    json.at("lambda").get_to(job.path);
  else
    json.at("lambda").get_to(job.lambda);
  job.path_of_mu = json.at("mu").is_string();
  if (job.path_of_mu)
    json.at("mu").get_to(job.path);
  else
    json.at("mu").get_to(job.mu);
  json.at("tol").get_to(job.tol);
  json.at("gap").get_to(job.gap);
  json.at("tighten").get_to(job.tighten);
  json.at("time_limit").get_to(job.time_limit);
  json.at("max_iterations").get_to(job.max_iterations);
  if (!json.at("objective_target").is_null())
    job.objective_target = json.at("objective_target").get<double>();
  json.at("sample_kkt").get_to(job.sample_kkt);
  json.at("profile").get_to(job.profile);
  json.at("sampling_budget").get_to(job.sampling_budget);
  json.at("warm_up").get_to(job.warm_up);
  json.at("seed").get_to(job.seed);
  json.at("threads").get_to(job.threads);
  json.at("backend").get_to(job.backend);
  json.at("plugins").get_to(job.plugins);
  return job;
}

Options options_from(const OptionTable& table, const std::map<std::string, std::string>& values) {
  Options options(table);
  for (const auto& [key, value] : values) options.set(key, value);
  return options;
}

}  // namespace proxbench

// What one run of driver.nix tells on standard error, line by line (the protocol: head of driver.nix). Knows
// nothing of processes: it is fed lines, those of others among them.
#ifndef HYDRANT_DAEMON_EVALUATE_DRIVER_TRANSCRIPT_H_
#define HYDRANT_DAEMON_EVALUATE_DRIVER_TRANSCRIPT_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/evaluate/variant_facts.h"

namespace hydrant {

struct NameReport {
  enum class Kind { kDerivation, kMissing, kNotADerivation, kCaught, kGarbled };
  Kind kind = Kind::kGarbled;
  std::string message;  // but for kCaught, whose words are asked for later
  std::string derivation;
  std::map<std::string, std::string> outputs;
  std::string environment, environment_output;
  VariantFacts facts;
};

class DriverTranscript {
 public:
  // The names that the driver was given, in its order, and its mark.
  DriverTranscript(std::vector<std::string> ids, const std::string& mark)
      : ids_(std::move(ids)), lead_("trace: @" + mark) {}

  // Whether the line is the driver's: it has its mark and fits the protocol at this place.
  bool Take(std::string_view line);

  // Of the first names, each once.
  const std::vector<NameReport>& reports() const { return reports_; }
  // A name without report has begun: names()[reports().size()].
  bool in_name() const { return state_ == State::kName; }
  // The last report is there, but neither environment nor meta yet.
  bool in_details() const { return state_ == State::kDetails; }
  // The slice's own packages have begun (@P) and are not told yet.
  bool in_slice() const { return state_ == State::kSlice; }
  // What the slice has by name; nullopt until it is told.
  const std::optional<std::map<std::string, std::string>>& named() const { return named_; }
  // The set of packages itself is an error that was caught: no name begins.
  bool nothing_begins() const { return nothing_begins_; }
  // The built-in recipe that made the slice and why it was chosen; empty with one of the user's own.
  const std::string& recipe() const { return recipe_; }
  const std::string& recipe_why() const { return recipe_why_; }
  bool complete() const { return state_ == State::kEnd; }
  // Standard error since the driver's last line, without traces, its last 64 KiB at most.
  const std::string& words() const { return words_; }

 private:
  enum class State { kBetween, kSlice, kName, kDetails, kEnd };
  bool TakeMark(char mark, std::string_view rest);
  bool Slice(std::string_view rest);
  bool Begin(std::string_view id);
  bool Report(char mark, std::string_view rest);
  bool Detail(char mark, std::string_view rest);
  bool Named(std::string_view rest);
  bool Probe(char mark, std::string_view rest);

  const std::vector<std::string> ids_;
  const std::string lead_;
  State state_ = State::kBetween;
  bool nothing_begins_ = false;
  std::string recipe_, recipe_why_;
  std::optional<std::map<std::string, std::string>> named_;
  std::vector<NameReport> reports_;
  std::map<std::string, std::string> refusals_;  // of the last name's questions
  std::string question_;                         // the last of them
  std::string words_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_DRIVER_TRANSCRIPT_H_

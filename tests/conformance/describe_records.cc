#include "tests/conformance/describe_records.h"

#include <map>
#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "daemon/audit/severity.h"
#include "daemon/record/narinfo_state.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

class Line {
 public:
  explicit Line(std::string_view what) : text_(what) {}
  Line& Add(std::string_view value) {
    return Raw(absl::StrCat("\"", absl::CHexEscape(AbslView(value)), "\""));
  }
  Line& Add(const std::string& value) { return Add(std::string_view(value)); }
  Line& Add(int64_t value) { return Raw(absl::StrCat(value)); }
  Line& Add(int value) { return Raw(absl::StrCat(value)); }
  Line& Add(bool value) { return Raw(value ? "yes" : "no"); }
  Line& Add(absl::Time value) {
    return Raw(absl::FormatTime(absl::RFC3339_full, value, absl::UTCTimeZone()));
  }
  Line& Add(absl::Duration value) { return Raw(absl::FormatDuration(value)); }
  Line& Add(Cause cause) { return Add(CauseName(cause)); }
  template <class Tag>
  Line& Add(Number<Tag> id) {
    return Raw(absl::StrCat("#", id.value));
  }
  Line& Add(const std::vector<std::string>& values) { return AddAll(values); }
  Line& Add(const std::set<std::string>& values) { return AddAll(values); }
  Line& Add(const std::map<std::string, std::string>& values) {
    Raw("{");
    for (const auto& [key, value] : values) Add(key).Add(value);
    return Raw("}");
  }
  Line& Add(const std::vector<Finding>& findings) {
    Raw("[");
    for (const Finding& f : findings) Add(f.rule).Add(SeverityName(f.severity)).Add(f.message).Add(f.path);
    return Raw("]");
  }
  std::string End() const { return text_ + "\n"; }

 private:
  template <class Values>
  Line& AddAll(const Values& values) {
    Raw("[");
    for (const std::string& value : values) Add(value);
    return Raw("]");
  }
  Line& Raw(const std::string& word) {
    absl::StrAppend(&text_, " ", word);
    return *this;
  }
  std::string text_;
};

std::string Describe(const MatrixRecord& m) {
  return Line("matrix").Add(m.name).Add(m.digest).Add(m.from_folder).Add(m.applied_at).End();
}

std::string Describe(const MatrixTextRecord& t) {
  return Line("text").Add(t.digest).Add(t.toml).Add(t.files).Add(t.directory).Add(t.file).End();
}

std::string Describe(const DerivationRecord& d) { return Line("derivation").Add(d.path).Add(d.aterm).End(); }

std::string Describe(const StepRecord& s) {
  const StepDetail& d = s.detail;
  return Line("step")
      .Add(s.derivation)
      .Add(StepStateName(s.state))
      .Add(d.cause)
      .Add(d.message)
      .Add(d.root)
      .Add(d.failed_attempts)
      .Add(d.not_before)
      .Add(d.held_by)
      .End();
}

std::string Describe(const CheckRecord& c) {
  return Line("check")
      .Add(c.key)
      .Add(c.name)
      .Add(c.output_path)
      .Add(c.environment_path)
      .Add(c.command)
      .Add(c.gpu)
      .Add(c.wanted_architecture)
      .Add(c.timeout)
      .Add(CheckStateName(c.state))
      .Add(c.cause)
      .Add(c.message)
      .Add(c.architecture)
      .Add(c.driver)
      .Add(c.simulated)
      .Add(c.attempt)
      .Add(c.failed_attempts)
      .End();
}

std::string Describe(const NarInfoRecord& n) {
  return Line("narinfo")
      .Add(n.path)
      .Add(NarInfoStateName(n.state))
      .Add(NarInfoTierName(n.tier))
      .Add(n.compression)
      .Add(n.file_hash)
      .Add(n.file_size)
      .Add(n.nar_hash)
      .Add(n.nar_size)
      .Add(n.references)
      .Add(n.deriver)
      .Add(n.content_address)
      .Add(n.signatures)
      .Add(n.attempt)
      .Add(n.staged_at)
      .Add(n.published_at)
      .End();
}

std::string Describe(const ChannelRecord& c) {
  return Line("channel").Add(c.name).Add(c.matrix).Add(c.evaluation).Add(c.revision).Add(c.at).End();
}

std::string Describe(const WorkerRecord& w) {
  const WorkerOffer& o = w.offer;
  std::string text = Line("worker")
                         .Add(w.name)
                         .Add(o.systems)
                         .Add(o.features)
                         .Add(o.cores)
                         .Add(o.memory_bytes)
                         .Add(o.slots)
                         .Add(o.version)
                         .Add(o.nix_version)
                         .Add(w.drained_by_operator)
                         .Add(w.revoked)
                         .Add(w.seen_at)
                         .End();
  for (const OfferedGpu& g : o.gpus) {
    text += Line("gpu")
                .Add(g.uuid)
                .Add(g.name)
                .Add(g.architecture)
                .Add(g.memory_bytes)
                .Add(g.driver)
                .Add(g.simulated)
                .End();
  }
  return text;
}

std::string Describe(const DerivedListRecord& l) {
  return Line("derived").Add(l.evaluation).Add(l.revision).Add(l.packages).Add(l.notes).Add(l.complete).End();
}

std::string Describe(const Recorded::Observed& o) {
  return Line("observed").Add(o.derivation).Add(o.building).Add(o.cpu).End();
}

std::string Describe(const Recorded::ObservedCheck& o) {
  return Line("observed check").Add(o.key).Add(o.running).End();
}

}  // namespace

std::string Describe(const EvaluationRecord& e) {
  return Line("evaluation")
      .Add(e.id)
      .Add(e.matrix)
      .Add(e.digest)
      .Add(e.only)
      .Add(e.priority)
      .Add(EvaluationStateName(e.state))
      .Add(e.revision)
      .Add(e.message)
      .Add(e.requested_at)
      .Add(e.settled_at)
      .Add(e.gate_passed)
      .Add(e.branch)
      .Add(e.wanted_revision)
      .End();
}

std::string Describe(const VariantRecord& v) {
  return Line("variant")
      .Add(v.evaluation)
      .Add(v.ordinal)
      .Add(v.id)
      .Add(v.package)
      .Add(v.slice_json)
      .Add(v.cause)
      .Add(v.message)
      .Add(v.derivation)
      .Add(v.outputs)
      .Add(v.environment)
      .Add(v.environment_output)
      .Add(v.facts_json)
      .Add(v.tier)
      .Add(v.findings)
      .End();
}

std::string Describe(const AttemptRecord& a) {
  const auto& [l, r] = a;
  return Line("attempt")
      .Add(l.attempt)
      .Add(l.token)
      .Add(l.subject.derivation)
      .Add(l.subject.check)
      .Add(l.worker)
      .Add(l.instance)
      .Add(l.gpu_uuid)
      .Add(AttemptStageName(l.stage))
      .Add(l.granted_at)
      .Add(l.expires_at)
      .Add(l.stage_at)
      .Add(r.outcome)
      .Add(r.cause)
      .Add(r.message)
      .Add(r.fetching)
      .Add(r.building)
      .Add(r.pushing)
      .Add(r.cpu)
      .Add(r.max_memory_bytes)
      .Add(r.log_bytes)
      .Add(r.ended_at)
      .End();
}

std::string Describe(const Recorded& recorded) {
  std::string text;
  const auto add = [&text](const auto& records) {
    for (const auto& record : records) text += Describe(record);
  };
  add(recorded.matrices);
  add(recorded.texts);
  add(recorded.evaluations);
  add(recorded.derived_lists);
  add(recorded.variants);
  add(recorded.derivations);
  add(recorded.steps);
  add(recorded.checks);
  add(recorded.live_attempts);
  add(recorded.narinfos);
  add(recorded.channels);
  add(recorded.workers);
  add(recorded.durations);
  add(recorded.check_durations);
  return text +
         Line("last").Add(recorded.last_evaluation).Add(recorded.last_attempt).Add(recorded.last_token).End();
}

}  // namespace hydrant

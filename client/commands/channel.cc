#include "client/commands/named.h"
#include "client/commands/verbs.h"
#include "client/format/lists.h"

namespace hydrant::client {

absl::StatusOr<Exit> ChannelList(Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::ListChannelsResponse channels, client->ListChannels({}));
  session.PrintTable(ChannelsTable(channels, session.screen()),
                     [&](JsonLayout layout) { return ChannelsJson(channels, layout); });
  return Exit::kOk;
}

absl::StatusOr<Exit> ChannelShow(const NameOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::ListChannelsResponse channels, client->ListChannels({}));
  HYDRANT_ASSIGN_OR_RETURN(const auto* const channel,
                           FindNamed("channel", options.name, channels.channels()));
  session.Print({.table = [&] { return FormatChannel(*channel, session.screen()); },
                 .json = [&](JsonLayout layout) { return ChannelJson(*channel, layout); }});
  return Exit::kOk;
}

}  // namespace hydrant::client

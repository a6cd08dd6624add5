#!/usr/bin/env bash
# Puts the plugin `docker compose` 2 into DIR/cli-plugins, for DOCKER_CONFIG=DIR. Debian 12 only has docker-compose 1,
# so this extracts the program from Debian 13's package. It uses apt with separate lists and installs nothing.
set -euo pipefail
dir="${1:?usage: fetch-compose-plugin.sh DIR}"
plugin="$dir/cli-plugins/docker-compose"
if [ -x "$plugin" ]; then exit 0; fi

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/parts" "$dir/cli-plugins"
# The Debian mirror of this machine.
site="$(apt-get indextargets --no-release-info --format '$(REPO_URI)' 'Created-By: Packages' 'Release: bookworm' |
  sed -n 1p)"
[ -n "$site" ] || { echo 'apt has no source of Debian 12' >&2; exit 1; }
cat >"$work/parts/debian13.sources" <<EOF
Types: deb
URIs: $site
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
own=(-qq -o Acquire::Retries=3 -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/parts" -o "Dir::State::Lists=$work/lists"
  -o "Dir::Cache=$work/cache" -o Dir::State::status=/dev/null -o Acquire::Languages=none -o APT::Sandbox::User=root
  -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
apt-get "${own[@]}" update
cd "$work"
apt-get "${own[@]}" download docker-compose
dpkg-deb --fsys-tarfile docker-compose_*.deb | tar -xO ./usr/libexec/docker/cli-plugins/docker-compose >"$plugin.new"
chmod +x "$plugin.new"
mv "$plugin.new" "$plugin"

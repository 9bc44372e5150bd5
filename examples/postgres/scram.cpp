// SPDX-License-Identifier: BSL-1.0
// scram: names are those of RFC 5802, section 3.
#include "scram.hpp"

#include "protocol.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace postgres {
namespace {

using quintet::bytes;

unsigned char* data_of(std::string& s) { return reinterpret_cast<unsigned char*>(s.data()); }
const unsigned char* data_of(bytes s) { return reinterpret_cast<const unsigned char*>(s.data()); }

constexpr std::size_t salt_size = 16, nonce_size = 18;

void require(bool worked) {
  if (!worked) throw std::runtime_error("libcrypto has failed");
}

std::string hash(bytes text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  require(SHA256(data_of(text), text.size(), data_of(digest)) != nullptr);
  return digest;
}

std::string hmac(bytes key, bytes text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  require(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data_of(text), text.size(), data_of(digest),
               nullptr) != nullptr);
  return digest;
}

std::string random_bytes(std::size_t size) {
  std::string raw(size, '\0');
  require(RAND_bytes(data_of(raw), static_cast<int>(size)) == 1);
  return raw;
}

std::string to_base64(bytes from) {
  std::string text((from.size() + 2) / 3 * 4 + 1, '\0');  // libcrypto adds a zero at the end
  EVP_EncodeBlock(data_of(text), data_of(from), static_cast<int>(from.size()));
  text.pop_back();
  return text;
}

std::string from_base64(bytes text) {
  std::string raw(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(data_of(raw), data_of(text), static_cast<int>(text.size()));
  if (size < 0) return {};
  const auto padding = static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
  raw.erase(raw.size() - std::min(raw.size(), padding));
  return raw;
}

/// Takes `name=value,` from the front.
bytes take_attribute(bytes& from, char name) {
  if (from.size() < 2 || from[0] != name || from[1] != '=') throw fatal_error("08P01", "malformed SCRAM message");
  const std::size_t end = std::min(from.find(','), from.size());
  const bytes value = from.substr(2, end - 2);
  from.remove_prefix(std::min(end + 1, from.size()));
  return value;
}

}  // namespace

scram_secret make_scram_secret(bytes password, std::string salt) {
  std::string salted(SHA256_DIGEST_LENGTH, '\0');
  require(PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), data_of(bytes(salt)),
                            static_cast<int>(salt.size()), scram_secret::iterations, EVP_sha256(),
                            static_cast<int>(salted.size()), data_of(salted)) == 1);
  return {std::move(salt), hash(hmac(salted, "Client Key")), hmac(salted, "Server Key")};
}

std::string make_salt() { return random_bytes(salt_size); }
std::string make_nonce() { return to_base64(random_bytes(nonce_size)); }

scram_secret make_stand_in(bytes name) {
  static const std::string process_key = random_bytes(SHA256_DIGEST_LENGTH);
  std::string random = random_bytes(SHA256_DIGEST_LENGTH);
  return {hmac(process_key, name).substr(0, salt_size), random, random};
}

// The gs2-header is "n,,", "y,," or that of the channel binding: without the name of another user to act for. "y" says
// that the server offers no binding.
std::string scram_exchange::begin(bytes client_first) {
  constexpr bytes with_binding = "p=tls-server-end-point,,";
  const bytes expected = binding_.data.empty() ? client_first.substr(0, 3) : with_binding;
  const bool is_known = expected == with_binding || expected == "n,," || (expected == "y,," && !binding_.can_bind);
  if (!is_known || !client_first.starts_with(expected))
    throw fatal_error("08P01", "unsupported SCRAM options: another channel binding, or an authorization identity");
  gs2_header_ = expected;
  const bytes client_first_bare = client_first.substr(expected.size());
  bytes rest = client_first_bare;
  (void)take_attribute(rest, 'n');  // the startup packet has named the user
  nonce_.insert(0, take_attribute(rest, 'r'));
  std::string server_first =
      "r=" + nonce_ + ",s=" + to_base64(secret_.salt) + ",i=" + std::to_string(scram_secret::iterations);
  auth_message_ = std::string(client_first_bare) + ',' + server_first + ',';
  return server_first;
}

std::string scram_exchange::finish(bytes client_final) const {
  bytes rest = client_final;
  const bytes channel_binding = take_attribute(rest, 'c'), nonce = take_attribute(rest, 'r');
  const bytes without_proof =
      client_final.substr(0, client_final.size() - std::min(rest.size() + 1, client_final.size()));
  std::string client_key = from_base64(take_attribute(rest, 'p'));
  const std::string auth_message = auth_message_ + std::string(without_proof);
  const std::string client_signature = hmac(secret_.stored_key, auth_message);
  if (channel_binding != to_base64(gs2_header_ + binding_.data) || nonce != nonce_ ||
      client_key.size() != client_signature.size())
    return {};
  std::transform(client_key.begin(), client_key.end(), client_signature.begin(), client_key.begin(), std::bit_xor<>());
  const std::string stored_key = hash(client_key);
  if (CRYPTO_memcmp(stored_key.data(), secret_.stored_key.data(), stored_key.size()) != 0) return {};
  return "v=" + to_base64(hmac(secret_.server_key, auth_message));
}

}  // namespace postgres

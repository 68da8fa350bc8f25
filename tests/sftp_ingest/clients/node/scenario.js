// The steps of a supplier's program with ssh2-sftp-client, the usual SFTP client of node.
const assert = require("node:assert");
const crypto = require("node:crypto");
const fs = require("node:fs");
const Client = require("ssh2-sftp-client");

async function scenario(port, password, hostKey) {
  const client = new Client("scenario");
  await client.connect({
    host: "127.0.0.1",
    port,
    username: "acme",
    password,
    hostVerifier: (key) => key.equals(Buffer.from(hostKey, "base64")),
  });
  const large = crypto.randomBytes(3_000_000);
  fs.writeFileSync("large.csv", large);
  await client.put(Buffer.from("sku\nX\n"), "products/x.csv");
  await client.put(Buffer.from("sku\nX\nY\n"), "products/x.csv");
  await client.fastPut("large.csv", "products/large.part", { concurrency: 32, chunkSize: 32768 });
  await client.put(fs.createReadStream("large.csv"), "products/streamed.csv");
  await client.posixRename("products/large.part", "products/large.csv");
  assert.equal(await client.exists("products/large.part"), false);
  assert.equal(await client.exists("products"), "d");
  const names = (await client.list("products")).map((each) => `${each.type}${each.name} ${each.size}`);
  assert.deepEqual(names.sort(), ["-large.csv 3000000", "-streamed.csv 3000000", "-x.csv 8"]);
  assert.deepEqual(await client.get("products/large.csv"), large);
  await client.fastGet("products/streamed.csv", "back.csv", { concurrency: 32 });
  assert.deepEqual(fs.readFileSync("back.csv"), large);
  assert.equal((await client.stat("products/x.csv")).size, 8);
  await client.mkdir("products/deep/er", true);
  await client.rename("products/x.csv", "products/deep/er/y.csv");
  await client.delete("products/deep/er/y.csv");
  await client.rmdir("products/deep", true);
  await assert.rejects(client.put(Buffer.from("x"), "templates/x.csv"), /[Pp]ermission|read-only/);
  await assert.rejects(client.append(Buffer.from("more"), "products/large.csv"));
  await client.end();
}

const [port, password, hostKey] = process.argv.slice(2);
scenario(Number(port), password, hostKey).then(() => console.log("done"));

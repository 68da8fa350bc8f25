// A fake service that answers from a list and records its requests.
import { Retailer } from "exchange-client";

export class Service {
  answers = [];
  asked = [];
  slept = [];
  pause = async () => {};

  get shop() {
    return new Retailer("https://exchange.example", "fxk_secret", 7, {
      fetch: async (url, request) => {
        this.asked.push({ url: new URL(url), ...request, headers: new Headers(request.headers) });
        const answer = this.answers.shift();
        if (answer instanceof Error) throw answer;
        return answer;
      },
      sleep: async (milliseconds) => {
        this.slept.push(milliseconds);
        await this.pause();
      },
    });
  }
}

export const answer = (body, status = 200, headers = {}) => Response.json(body, { status, headers });

export const refused = (status, code, headers = {}, more = {}) =>
  answer({ success: false, code, message: "No.", request_id: "r-1", ...more }, status, headers);

export async function all(items, most = Infinity) {
  const found = [];
  for await (const item of items) {
    found.push(item);
    if (found.length >= most) break;
  }
  return found;
}

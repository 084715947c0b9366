// One conversation of a vendor's SDK: asks until there are no more calls to answer.

export class Talk {
  constructor(table, job, heard) {
    this.scenario = table.scenarios[job.scenario];
    this.ask = this.scenario.ask;
    this.results = this.scenario.results ?? table.results;
    this.tools = (this.ask.tools ?? []).map((name) => ({ name, ...table.tools[name] }));
    this.model = job.model;
    this.mode = job.mode;
    this.heard = heard;
    this.client = this.connect(table.gateway, listening(heard));
  }

  async run() {
    if (this.scenario.abort) return this.leave();
    for (;;) {
      const { step, calls } = await this.step();
      this.heard.steps.push(step);
      if (calls.length === 0 || this.scenario.once) return undefined;
      this.answer(calls);
    }
  }

  // Goes away once the first text has come.
  async leave() {
    if (this.mode === 'stream') {
      const stream = await this.create({ stream: true });
      for await (const event of stream) if (this.isText(event)) break;
      return;
    }
    const stream = this.helper();
    for await (const event of stream) if (this.isText(event)) break;
    stream.abort();
  }
}

// A fetch that writes down the losses which the gateway reports.
export function listening(heard) {
  return async (...request) => {
    const response = await fetch(...request);
    heard.loss.push(response.headers.get('toolwire-loss') ?? '');
    return response;
  };
}

export const dataUrl = (image) => `data:image/png;base64,${image}`;

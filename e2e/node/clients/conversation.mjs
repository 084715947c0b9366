// One conversation of a vendor's SDK: sends requests until there are no more calls to answer.

export class Conversation {
  constructor(table, testCase, recording) {
    this.scenario = testCase.script;
    this.ask = this.scenario.ask;
    this.results = this.scenario.results ?? table.results;
    this.tools = (this.ask.tools ?? []).map((name) => ({ name, ...table.tools[name] }));
    this.model = testCase.model;
    this.mode = testCase.mode;
    this.recording = recording;
    this.client = this.connect(testCase.gateway, recordingFetch(recording));
  }

  async run() {
    if (this.scenario.abort) return this.abort();
    for (;;) {
      const { answer, calls } = await this.nextAnswer();
      this.recording.answers.push(answer);
      if (calls.length === 0 || this.scenario.once) return undefined;
      this.addResults(calls);
    }
  }

  // Disconnects after the first text.
  async abort() {
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

// A fetch that records what the gateway says in its headers.
export function recordingFetch(recording) {
  return async (...request) => {
    const response = await fetch(...request);
    recording.loss_headers.push(response.headers.get('toolwire-loss') ?? '');
    recording.recovered.push(response.headers.get('toolwire-recovered'));
    return response;
  };
}

export const dataUrl = (image) => `data:image/png;base64,${image}`;

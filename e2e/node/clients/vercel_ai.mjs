// The Vercel AI SDK, `ai`, with each of its providers. It runs the tools and the loop itself.

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Output, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

import { recordingFetch } from './conversation.mjs';

// It would warn about every scripted model, because it knows none of them.
globalThis.AI_SDK_LOG_WARNINGS = false;

const STOPS = { stop: 'end', 'tool-calls': 'calls', length: 'length' };

const PROVIDERS = {
  'ai openai chat': ({ url, fetch, model }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'k', fetch }).chat(model),
  'ai openai responses': ({ url, fetch, model }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'k', fetch }).responses(model),
  'ai anthropic': ({ url, fetch, model }) => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'k', fetch })(model),
  'ai openai-compatible': ({ url, fetch, model }) => {
    const settings = { name: 'toolwire', baseURL: `${url}/v1`, apiKey: 'k', fetch, includeUsage: true };
    return createOpenAICompatible({ ...settings, supportsStructuredOutputs: true })(model);
  },
};

export class VercelAi {
  constructor(table, testCase, recording) {
    this.scenario = testCase.script;
    this.results = this.scenario.results ?? table.results;
    this.declared = table.tools;
    this.testCase = testCase;
    this.recording = recording;
    this.abortController = new AbortController();
    this.model = PROVIDERS[testCase.client]({ url: testCase.gateway, fetch: recordingFetch(recording), model: testCase.model });
  }

  async run() {
    if (this.testCase.mode === 'unary') return this.record(await generateText(this.parameters()));
    let failure;
    const result = streamText({ ...this.parameters(), onError: ({ error }) => (failure = error) });
    for await (const part of result.fullStream) {
      if (this.scenario.abort && part.type === 'text-delta') {
        this.abortController.abort();
        return undefined;
      }
    }
    if (failure) throw failure;
    return this.record({ steps: await result.steps });
  }

  record({ steps }) {
    for (const { text, toolCalls, reasoningText, usage, finishReason } of steps) {
      this.recording.answers.push({
        text,
        calls: toolCalls.map(({ toolName, input }) => [toolName, input]),
        reasoning: reasoningText ?? null,
        usage: {
          input: usage.inputTokens,
          cached: usage.inputTokenDetails?.cacheReadTokens ?? usage.cachedInputTokens ?? 0,
          output: usage.outputTokens,
        },
        stop: STOPS[finishReason] ?? finishReason,
      });
    }
  }

  parameters() {
    const { system, user, image, tools = [], choice, parallel, format, limit, think } = this.scenario.ask;
    const content = image ? [{ type: 'text', text: user }, { type: 'image', image, mediaType: 'image/png' }] : user;
    const openai = { store: false, include: ['reasoning.encrypted_content'] };
    // By default, a model that it does not know gets a tool in place of a format.
    const anthropic = { structuredOutputMode: 'outputFormat' };
    if (parallel === false) [openai.parallelToolCalls, anthropic.disableParallelToolUse] = [false, true];
    if (think) {
      Object.assign(openai, { forceReasoning: true, reasoningEffort: 'low', reasoningSummary: 'auto' });
      anthropic.thinking = { type: 'enabled', budgetTokens: 2048 };
    }
    return {
      model: this.model,
      system,
      messages: [{ role: 'user', content }],
      tools: Object.fromEntries(tools.map((name) => [name, this.tool(name)])),
      toolChoice: typeof choice === 'string' ? { any: 'required' }[choice] ?? choice : choice && { type: 'tool', toolName: choice.name },
      output: format && Output.object({ schema: jsonSchema(format) }),
      maxOutputTokens: limit,
      stopWhen: stepCountIs(this.scenario.once ? 1 : 8),
      maxRetries: 0,
      abortSignal: this.abortController.signal,
      providerOptions: { openai, anthropic, toolwire: think ? { reasoningEffort: 'low' } : {} },
    };
  }

  tool(name) {
    const { description, schema } = this.declared[name];
    const { text, image, error } = this.results[name] ?? {};
    return tool({
      description,
      inputSchema: jsonSchema(schema),
      execute: async () => {
        if (error) throw new Error(text);
        return text;
      },
      toModelOutput: image
        ? () => ({
            type: 'content',
            value: [
              { type: 'text', text },
              { type: 'image-data', data: image, mediaType: 'image/png' },
            ],
          })
        : undefined,
    });
  }
}

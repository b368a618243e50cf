export type { ModelSource, WatchedModel } from './passes/passes-panel.ts';
export type { InspectorTarget } from './read-target.ts';
export { defineInspector, WeftInspector } from './weft-inspector.ts';

export type { WatchedModel } from './passes/passes-panel.ts';
export type { InspectorTarget } from './read-target.ts';
export { defineInspector } from './weft-inspector.ts';

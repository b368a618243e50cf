export type { InspectorTarget } from './read-target.ts';
export { defineInspector, WeftInspector } from './weft-inspector.ts';

import type { Remote } from 'comlink';
import { html, nothing, render, type TemplateResult } from 'lit-html';
import { formatPlace } from '../../core/contracts/source-place.ts';
import { formatCount, formatMs } from '../../core/format-quantity.ts';
import type { LaidOutGraph, ProgramService } from '../program/program-service.ts';
import type { GraphNode } from '../program/program-graph.ts';
import { scopeKey } from './collapse-scopes.ts';
import type { Drawn, Tint } from './draw-graph.ts';
import { GraphScene } from './graph-scene.ts';
import { GraphView } from './graph-view.ts';
import { type FoundName, searchNodes } from './search-nodes.ts';

/** Results of a search that are listed. */
const MOST_FOUND = 100;
/** Neighbours and places that are listed. */
const MOST_LISTED = 40;

interface GraphPanelEvents {
  onSelect?(node: GraphNode | undefined): void;
  /** More on the chosen node, below what the graph knows of it. */
  detailsOf?(node: GraphNode): HTMLElement | undefined;
}

/** The graph of a function with a search, its scopes, and what there is to know of the chosen node. */
export class GraphPanel {
  readonly #root: HTMLElement;
  readonly #events: GraphPanelEvents;
  #view: GraphView | undefined;
  #service: Remote<ProgramService> | undefined;
  #laidOut: LaidOutGraph | undefined;
  #collapsed: ReadonlySet<string> = new Set();
  #scene: GraphScene | undefined;
  #shownOf: readonly number[] = [];
  #chosen: number | undefined;
  #query = '';
  /** Each name once, and the nodes of all of them. */
  #names: readonly FoundName[] = [];
  #found: readonly number[] = [];
  #tints: ReadonlyMap<number, Tint> = new Map();
  #news = '';

  constructor(root: HTMLElement, events: GraphPanelEvents = {}) {
    this.#root = root;
    this.#events = events;
  }

  /** @internal */
  get drawn(): Drawn {
    return this.#view?.drawn ?? { nodes: 0, edges: 0 };
  }

  /** @internal */
  get layoutMs(): number | undefined {
    return this.#laidOut?.layoutMs;
  }

  /** @internal */
  get canvas(): HTMLCanvasElement | undefined {
    return this.#view?.canvas;
  }

  /** Nodes of the function that is shown. */
  get nodes(): readonly GraphNode[] {
    return this.#laidOut?.graph.nodes ?? [];
  }

  /** Shows a function, with all scopes open. */
  async show(service: Remote<ProgramService>, functionName: string): Promise<void> {
    this.#service = service;
    this.#collapsed = new Set();
    this.#chosen = undefined;
    this.#query = '';
    this.#names = [];
    this.#found = [];
    this.#tints = new Map();
    await this.#layOut(functionName, false);
  }

  /** Colours nodes of the graph, by their numbers. */
  tint(tints: ReadonlyMap<number, Tint>): void {
    this.#tints = tints;
    this.#applyTints();
  }

  /** Chooses the node of an instruction, as a click on it does, and brings it into sight. */
  selectInstruction(instruction: number | undefined): void {
    const number = this.nodes.findIndex((node) => node.instruction === instruction);
    this.#choose(instruction === undefined || number < 0 ? undefined : number, true);
  }

  close(): void {
    this.#view?.close();
    render(nothing, this.#root);
  }

  async #layOut(functionName: string, keep: boolean): Promise<void> {
    const laidOut = await this.#service?.layout(functionName, [...this.#collapsed]);
    if (laidOut === undefined) return;
    const { graph, shown, layout } = laidOut;
    this.#laidOut = laidOut;
    this.#scene = new GraphScene(shown, layout);
    const shownOf = new Array<number>(graph.nodes.length).fill(0);
    for (const [place, { nodes }] of shown.nodes.entries()) {
      for (const node of nodes) shownOf[node] = place;
    }
    this.#shownOf = shownOf;
    this.#render();
    this.#view ??= this.#openView();
    this.#view.show(this.#scene, { keep });
    this.#applyTints();
    this.#mark();
  }

  #openView(): GraphView {
    const canvas = this.#root.querySelector('canvas');
    if (canvas === null) throw new Error('internal: the graph has no canvas');
    return new GraphView(canvas, {
      onSelect: (place) => {
        const { nodes = [], scope } = this.#scene?.graph.nodes[place ?? -1] ?? {};
        this.#choose(nodes[0]);
        if (scope !== undefined)
          this.#announce(`scope ${scope}, ${formatCount(nodes.length, 'node')}`);
      },
      onOpen: (place) => {
        const { scope, nodes = [] } = this.#scene?.graph.nodes[place] ?? {};
        if (scope !== undefined) this.#toggle(scope);
        else {
          const parts = this.nodes[nodes[0] ?? -1]?.scope ?? [];
          if (parts.length > 0) this.#toggle(scopeKey(parts));
        }
      },
    });
  }

  #applyTints(): void {
    const tints = new Map<number, Tint>();
    for (const [node, tint] of this.#tints) {
      const place = this.#shownOf[node] ?? -1;
      const known = tints.get(place);
      if (known === undefined || known.amount < tint.amount) tints.set(place, tint);
    }
    this.#view?.tint(tints);
  }

  /** Draws a scope as one node, or as its nodes. */
  #toggle(scope: string): void {
    const collapsed = new Set(this.#collapsed);
    if (!collapsed.delete(scope)) collapsed.add(scope);
    this.#collapsed = collapsed;
    void this.#showToggled(scope, collapsed.has(scope));
  }

  async #showToggled(scope: string, isCollapsed: boolean): Promise<void> {
    await this.#layOut(this.#laidOut?.graph.functionName ?? 'main', true);
    const first = this.nodes.findIndex(
      (node) => scopeKey(node.scope.slice(0, scope.split('/').length)) === scope,
    );
    if (first >= 0) this.#view?.reveal(this.#shownOf[first] ?? 0);
    this.#announce(`${scope} ${isCollapsed ? 'collapsed' : 'expanded'}`);
  }

  #choose(node: number | undefined, reveal = false): void {
    this.#chosen = node;
    const chosen = node === undefined ? undefined : this.nodes[node];
    this.#mark(reveal);
    this.#events.onSelect?.(chosen);
    this.#announce(chosen === undefined ? '' : describeNode(chosen));
  }

  #announce(news: string): void {
    this.#news = news;
    this.#render();
  }

  #mark(reveal = false): void {
    const places = this.#chosen === undefined ? [] : [this.#shownOf[this.#chosen] ?? 0];
    this.#view?.select(places, { reveal });
    this.#view?.mark(new Set(this.#found.map((node) => this.#shownOf[node] ?? 0)));
  }

  #search(query: string): void {
    this.#query = query;
    this.#names = searchNodes(this.nodes, query);
    this.#found = this.#names.flatMap(({ nodes }) => nodes);
    this.#mark();
    this.#announce(query === '' ? '' : `${formatCount(this.#found.length, 'node')} found`);
  }

  /** Chooses the node that was found next behind the chosen one. */
  #nextFound(found: readonly number[]): void {
    const at = found.indexOf(this.#chosen ?? -1);
    const next = found[(at + 1) % Math.max(1, found.length)];
    if (next !== undefined) this.#choose(next, true);
  }

  #render(): void {
    render(this.#template(), this.#root);
  }

  #template(): TemplateResult {
    const { graph, layoutMs } = this.#laidOut ?? {};
    const label = `Graph of ${graph?.functionName}: ${formatCount(graph?.nodes.length ?? 0, 'node')}`;
    return html`<div class="graph">
        <canvas tabindex="0" role="application" aria-label=${label} aria-describedby="graph-help"></canvas>
        <div class="tools">
          <button type="button" aria-label="Zoom in" @click=${() => this.#view?.zoom(1.25)}>+</button>
          <button type="button" aria-label="Zoom out" @click=${() => this.#view?.zoom(0.8)}>−</button>
          <button type="button" @click=${() => this.#view?.fitWidth()}>Top</button>
          <button type="button" @click=${() => this.#view?.fitAll()}>All</button>
        </div>
        <p id="graph-help" class="visually-hidden">
          Arrow keys go along values: down to what reads a node, up to what it reads, left and right to its neighbours.
          With Shift they move the drawing. Plus and minus zoom, 0 shows all, Home the top, Enter collapses or expands the scope.
        </p>
        <p class="visually-hidden" role="status">${this.#news}</p>
      </div>
      <aside aria-label="Nodes">
        <input
          type="search"
          aria-label="Search nodes"
          placeholder="Search nodes, operators, kernels"
          .value=${this.#query}
          @input=${(event: Event) => this.#search((event.target as HTMLInputElement).value)}
          @keydown=${(event: KeyboardEvent) => {
            if (event.key === 'Enter') this.#nextFound(this.#found);
          }}
        />
        ${this.#query === '' ? nothing : this.#foundList()} ${this.#details()} ${this.#scopes()}
        <p class="facts">${label}, laid out in ${formatMs(layoutMs)}.</p>
      </aside>`;
  }

  #foundList(): TemplateResult {
    const more = this.#names.length - MOST_FOUND;
    return html`<h3>${formatCount(this.#found.length, 'node')} found</h3>
      <ul>
        ${this.#names.slice(0, MOST_FOUND).map(
          ({ text, nodes }) => html`<li>
            <button type="button" @click=${() => this.#nextFound(nodes)}>
              ${text}${nodes.length > 1 ? `, ${nodes.length} nodes` : nothing}
            </button>
          </li>`,
        )}
      </ul>
      ${more > 0 ? html`<p class="facts">and ${more} more</p>` : nothing}`;
  }

  #nodeItem(node: number): TemplateResult {
    const { label = '', name = '', kind } = this.nodes[node] ?? {};
    const text = label === name || kind === 'result' ? label : `${label} (${name})`;
    return html`<li>
      <button type="button" @click=${() => this.#choose(node, true)}>${text}</button>
    </li>`;
  }

  #details(): TemplateResult | typeof nothing {
    const number = this.#chosen;
    const node = number === undefined ? undefined : this.nodes[number];
    if (number === undefined || node === undefined) return nothing;
    const edges = this.#laidOut?.graph.edges ?? [];
    const inputs = edges.filter(([, to]) => to === number).map(([from]) => from);
    const outputs = edges.filter(([from]) => from === number).map(([, to]) => to);
    const parts = node.scope;
    return html`<h3>${node.label}</h3>
      <dl>
        <dt>${KIND_NAMES[node.kind]}</dt>
        <dd class="mono">${node.name}</dd>
        ${node.operators.length === 0 ? nothing : html`<dt>operators</dt><dd>${node.operators.join(', ')}</dd>`}
        ${node.types.length === 0 ? nothing : html`<dt>gives</dt><dd class="mono">${node.types.join('; ')}</dd>`}
        ${node.instruction === undefined ? nothing : html`<dt>instruction</dt><dd>${node.instruction}</dd>`}
        ${node.isOnHost ? html`<dt>runs on</dt><dd>the host</dd>` : nothing}
      </dl>
      ${
        parts.length === 0
          ? nothing
          : html`<button type="button" @click=${() => this.#toggle(scopeKey(parts))}>
              Collapse ${scopeKey(parts)}
            </button>`
      }
      ${this.#events.detailsOf?.(node) ?? nothing}
      ${list('From the source', node.places, (place) => html`<li class="mono">${formatPlace(place)}</li>`)}
      ${list('Reads', inputs, (each) => this.#nodeItem(each))}
      ${list('Read by', outputs, (each) => this.#nodeItem(each))}`;
  }

  #scopes(): TemplateResult | typeof nothing {
    const { scopes = [] } = this.#laidOut ?? {};
    return list('Scopes', scopes, ({ key, depth, nodeCount }) => {
      const isCollapsed = this.#collapsed.has(key);
      return html`<li class=${`depth-${Math.min(depth, 4)}`}>
        <button
          type="button"
          aria-expanded=${isCollapsed ? 'false' : 'true'}
          @click=${() => this.#toggle(key)}
        >
          ${isCollapsed ? '▸' : '▾'} ${key.slice(key.lastIndexOf('/') + 1)} (${nodeCount})
        </button>
      </li>`;
    });
  }
}

const KIND_NAMES = {
  input: 'input',
  kernel: 'kernel',
  function: 'function',
  packed: 'packed function',
  result: 'result',
} as const satisfies Record<GraphNode['kind'], string>;

function list<T>(
  title: string,
  items: readonly T[],
  item: (each: T) => TemplateResult,
): TemplateResult | typeof nothing {
  if (items.length === 0) return nothing;
  const more = items.length - MOST_LISTED;
  return html`<h3>${title}</h3>
    <ul>
      ${items.slice(0, MOST_LISTED).map(item)}
    </ul>
    ${more > 0 ? html`<p class="facts">and ${more} more</p>` : nothing}`;
}

function describeNode({ kind, label, name, operators, types }: GraphNode): string {
  const what = operators.length > 0 ? operators.join(', ') : name;
  return `${label}, ${KIND_NAMES[kind]}, ${what}${types[0] === undefined ? '' : `, ${types[0]}`}`;
}

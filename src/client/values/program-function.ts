import { DISPOSE } from '../../core/async/dispose-symbols.ts';
import { UsageError } from '../../core/errors.ts';
import type { OpaqueValue } from '../../core/contracts/opaque-value.ts';
import type { HandleId } from '../../worker/protocol/reply.ts';
import type { RunRequest } from '../../worker/protocol/run-request.ts';
import type { CallPage, WireResult, WireValue } from '../../worker/protocol/wire-value.ts';
import type { HandleOwner } from './device-tensor.ts';
import { givePageObjects, PageObjects, pageObjectsOf } from './page-objects.ts';
import { callableFrom, type FunctionBridge } from '../session-functions.ts';
import type {
  FunctionInput,
  InputValue,
  OutputValue,
  ProgramFunction,
  SessionFunction,
} from './session-value.ts';
import { wireStructured } from './structured-input.ts';
import { fromWire, type LateForm } from './wire-values.ts';

/** The part of a session that its functions need. */
export interface FunctionOwner extends HandleOwner {
  /** Calls a function that a handle stands for. */
  callHandle(
    request: Omit<RunRequest, 'session'>,
    callPage: CallPage | undefined,
  ): Promise<WireResult[]>;
}

interface Place {
  readonly owner: FunctionOwner;
  handle: HandleId | undefined;
  isKept: boolean;
}

/** Where the functions of sessions are, for those that go back as inputs. */
const places = new WeakMap<object, Place>();

/** Results by name, of which some are functions. */
export function fromWireWithFunctions(
  results: readonly WireResult[],
  owner: FunctionOwner,
): Record<string, OutputValue> {
  const late = (value: LateForm): OutputValue =>
    value.kind === 'opaque'
      ? pageObjectsOf(owner).get(value)
      : programFunction(owner, value.handle);
  return fromWire(results, owner, late) ?? {};
}

function programFunction(owner: FunctionOwner, handle: HandleId): ProgramFunction {
  const place: Place = { owner, handle, isKept: false };
  const call = async (...args: readonly (InputValue | FunctionInput)[]): Promise<OutputValue> => {
    if (place.handle === undefined) throw disposed();
    const { wires, callPage } = wireArguments(args, owner);
    const request = { functionName: '', callee: place.handle, args: wires, keep: 'host' } as const;
    const results = await owner.callHandle(request, callPage);
    return fromWireWithFunctions(results, owner)['result'] ?? null;
  };
  const dispose = (): void => {
    if (place.handle !== undefined) owner.releaseHandle(place.handle);
    place.handle = undefined;
  };
  const keep = (): ProgramFunction => {
    if (place.handle === undefined) throw disposed();
    place.isKept = true;
    return made;
  };
  const made: ProgramFunction = Object.assign(call, { dispose, keep, [DISPOSE]: dispose });
  places.set(made, place);
  return made;
}

/** Arguments as they go to the program, with what calls the functions among them. */
function wireArguments(
  args: readonly (InputValue | FunctionInput)[],
  owner: FunctionOwner,
): { readonly wires: readonly WireValue[]; readonly callPage: CallPage | undefined } {
  const bridge = new FunctionArguments(owner);
  const { wire } = wireStructured(args, 'argument of a function', bridge);
  return { wires: wire.kind === 'adt' ? wire.fields : [], callPage: bridge.callPage() };
}

/** The functions among the inputs of a run, and among the arguments and results of functions of the page. */
export class FunctionArguments implements FunctionBridge {
  readonly #functions = new Map<string, SessionFunction>();
  readonly #names = new Map<SessionFunction, string>();
  readonly objects: PageObjects;
  #hasObjects = false;
  #owner: FunctionOwner | undefined;

  constructor(owner: FunctionOwner | undefined) {
    this.#owner = owner;
    this.objects = owner === undefined ? new PageObjects() : pageObjectsOf(owner);
  }

  /** The session; undefined until it is loaded. */
  get owner(): FunctionOwner | undefined {
    return this.#owner;
  }

  set owner(session: FunctionOwner) {
    this.#owner = session;
    givePageObjects(session, this.objects);
  }

  /** A function of the program goes back as itself, one of the page by a name. Throws UsageError. */
  wire(fn: FunctionInput, where: string): WireValue {
    const place = places.get(fn);
    if (place === undefined) {
      return { kind: 'packed', name: this.#nameOf(fn as SessionFunction) };
    }
    if (place.handle === undefined) throw disposed();
    if (place.owner === this.owner) return { kind: 'closure', handle: place.handle };
    const got = 'a function of another session';
    throw new UsageError({ where, got, expected: 'one of this session, or of the page' });
  }

  wireObject(value: OpaqueValue): WireValue {
    this.#hasObjects = true;
    return this.objects.wire(value);
  }

  #nameOf(fn: SessionFunction): string {
    const { size } = this.#names;
    const name = this.#names.get(fn) ?? `${fn.name === '' ? 'function' : fn.name} ${size}`;
    this.#names.set(fn, name);
    this.#functions.set(name, fn);
    return name;
  }

  functionOf(handle: HandleId): ProgramFunction {
    if (this.owner === undefined) throw new Error('internal: a function of no session');
    return programFunction(this.owner, handle);
  }

  endCall(fn: ProgramFunction, goingOn: ReadonlySet<HandleId>): void {
    const place = places.get(fn);
    if (place?.handle === undefined || place.isKept || goingOn.has(place.handle)) return;
    fn.dispose();
  }

  argument(name: string): SessionFunction | undefined {
    return this.#functions.get(name);
  }

  /** Undefined where the page gave neither functions of its own nor objects. */
  callPage(): CallPage | undefined {
    const isNeeded = this.#hasObjects || this.#functions.size > 0;
    return isNeeded ? callableFrom({}, this) : undefined;
  }
}

function disposed(): UsageError {
  return new UsageError({
    where: 'function of a program',
    got: 'one that was disposed of',
    expected: 'a live one',
    remedy:
      'One that a function of the page was given ends with that call; its method keep keeps it.',
  });
}

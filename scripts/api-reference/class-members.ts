import type { Declaration, Place, SourceModule } from './source-module.ts';

type ClassNode = Extract<Declaration['node'], { body: { type: 'ClassBody' } }>;
type InterfaceNode = Extract<Declaration['node'], { type: 'TSInterfaceDeclaration' }>;
type AliasNode = Extract<Declaration['node'], { type: 'TSTypeAliasDeclaration' }>;
type TypeNode = AliasNode['typeAnnotation'];
type MemberNode = ClassNode['body']['body'][number] | InterfaceNode['body']['body'][number];
type NamedNode = Extract<MemberNode, { readonly key: unknown }>;
type Key = NamedNode['key'];

/** A public member of a class or an interface. */
interface Member {
  readonly name: string;
  /** Tells members of one name that are static from others. */
  readonly key: string;
  /** The module that spells it. */
  readonly module: SourceModule;
  readonly node: NamedNode;
}

/** Members that a class or an interface spells itself; of overloads the signatures. */
export function ownMembers({ module, node }: Declaration): Member[] {
  const isType = node.type === 'ClassDeclaration' || node.type === 'TSInterfaceDeclaration';
  return isType ? membersOf(module, node.body.body) : [];
}

function membersOf(module: SourceModule, nodes: readonly MemberNode[]): Member[] {
  const members = nodes.flatMap((node): Member[] => {
    if (!('key' in node) || !isPublic(node)) return [];
    const name = node.computed ? `[${keyText(node.key)}]` : keyText(node.key);
    return [{ name, key: `${node.static ? 'static ' : ''}${name}`, module, node }];
  });
  const overloaded = new Set(members.filter(isSignature).map(({ key }) => key));
  return members.filter((member) => !overloaded.has(member.key) || isSignature(member));
}

const isSignature = ({ node }: Member): boolean =>
  node.type === 'MethodDefinition' && node.value.type === 'TSEmptyBodyFunctionExpression';

function isPublic(node: NamedNode): boolean {
  if (node.key.type === 'PrivateIdentifier' || ('kind' in node && node.kind === 'constructor')) {
    return false;
  }
  return node.accessibility === null || node.accessibility === 'public';
}

function keyText(key: Key): string {
  if (key.type === 'Literal') return String(key.value);
  if (key.type === 'MemberExpression') return `${keyText(key.object)}.${keyText(key.property)}`;
  return 'name' in key && typeof key.name === 'string' ? key.name : key.type;
}

/** A type that a class or an interface extends or implements. */
interface Parent {
  readonly declarations: readonly Declaration[];
  /** Named itself, not as an argument of `Omit` and the like. */
  readonly isWhole: boolean;
  readonly isExtended: boolean;
}

function parentsOf({ module, node }: Declaration): Parent[] {
  const parent = (name: Name, args: Arguments, isExtended: boolean): Parent => ({
    declarations: referred(module, name, args),
    isWhole: !isSelection(name),
    isExtended,
  });
  if (node.type === 'TSInterfaceDeclaration') {
    return node.extends.map(({ expression, typeArguments }) =>
      parent(expression, typeArguments, true),
    );
  }
  if (node.type !== 'ClassDeclaration') return [];
  const implemented = (node.implements ?? []).map(({ expression, typeArguments }) =>
    parent(expression as Name, typeArguments, false),
  );
  return node.superClass === null
    ? implemented
    : [parent(node.superClass, node.superTypeArguments, true), ...implemented];
}

type Reference = Extract<TypeNode, { type: 'TSTypeReference' }>;
type Name = InterfaceNode['extends'][number]['expression'] | Reference['typeName'];
type Arguments = Reference['typeArguments'] | undefined;

/** Types whose members are those of their first argument, or some of them. */
const SELECTIONS = ['NonNullable', 'Omit', 'Partial', 'Pick', 'Readonly', 'Required'];

const isSelection = (name: Name): boolean =>
  name.type === 'Identifier' && SELECTIONS.includes(name.name);

/** What a reference to a type stands for; nothing where a package or the platform declares that. */
function referred(module: SourceModule, name: Name, args: Arguments): readonly Declaration[] {
  if (isSelection(name)) {
    const of = args?.params[0];
    if (of?.type === 'TSTypeReference') return referred(module, of.typeName, of.typeArguments);
    throw new Error(`${module.path}: expected the name of a type there, got ${of?.type}`);
  }
  if (name.type === 'Identifier') {
    const found = module.named(name.name);
    return 'statement' in found ? [] : found;
  }
  const [scope, member] =
    name.type === 'MemberExpression'
      ? [name.object, name.property]
      : name.type === 'TSQualifiedName'
        ? [name.left, name.right]
        : [];
  if (scope?.type !== 'Identifier' || member?.type !== 'Identifier') {
    throw new Error(`${module.path}: an exported class extends what has no name (${name.type})`);
  }
  const found = module.named(scope.name);
  const exported = 'statement' in found ? found.module.exported(member.name) : [];
  return 'statement' in exported ? [] : exported;
}

/** Members that come from what is extended and not exported itself, unless they are overridden. */
export function inheritedMembers(
  declaration: Declaration,
  exported: ReadonlySet<Declaration['node']>,
): Member[] {
  const own = new Set(ownMembers(declaration).map(({ key }) => key));
  return parentsOf(declaration)
    .filter(({ isExtended }) => isExtended)
    .flatMap(({ declarations }) => declarations)
    .filter(({ node }) => !exported.has(node))
    .flatMap((parent) => allMembers(parent, exported))
    .filter(({ key }) => !own.has(key));
}

function allMembers(
  declaration: Declaration,
  exported: ReadonlySet<Declaration['node']>,
): Member[] {
  const { module, node } = declaration;
  if (node.type === 'TSTypeAliasDeclaration') {
    return membersOfType(module, node.typeAnnotation, exported);
  }
  return [...ownMembers(declaration), ...inheritedMembers(declaration, exported)];
}

function membersOfType(
  module: SourceModule,
  type: TypeNode,
  exported: ReadonlySet<Declaration['node']>,
): Member[] {
  switch (type.type) {
    case 'TSTypeLiteral':
      return membersOf(module, type.members);
    case 'TSIntersectionType':
      return type.types.flatMap((each) => membersOfType(module, each, exported));
    case 'TSTypeReference':
      return referred(module, type.typeName, type.typeArguments)
        .filter(({ node }) => !exported.has(node))
        .flatMap((declaration) => allMembers(declaration, exported));
    default:
      throw new Error(`${module.path}: an exported interface extends a type of members by rule`);
  }
}

/** Returns true if a type that this one extends or implements has a docstring of the member. */
export function isDescribedByParent(declaration: Declaration, key: string): boolean {
  return parentsOf(declaration)
    .filter(({ isWhole }) => isWhole)
    .flatMap(({ declarations }) => declarations)
    .some(
      (parent) =>
        ownMembers(parent).some((member) => member.key === key && hasDocstring(member)) ||
        isDescribedByParent(parent, key),
    );
}

/** A node before which a docstring may stand. */
export interface Documentable {
  readonly module: SourceModule;
  readonly node: Place;
}

/** Returns true if a docstring with words stands before a node. */
export const hasDocstring = ({ module, node }: Documentable): boolean =>
  /\w/.test(module.docstring(node) ?? '');

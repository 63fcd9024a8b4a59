// The rules of the page's source.  Types are tsc's work, so no-undef is not needed.
export default [{
  linterOptions: {reportUnusedDisableDirectives: "error"},
  rules: {
    "array-callback-return": "error", "consistent-return": "error", "curly": "error", "eqeqeq": "error", "no-constant-condition": "error",
    "no-duplicate-imports": "error", "no-dupe-else-if": "error", "no-else-return": "error", "no-eval": "error", "no-implied-eval": "error",
    "no-fallthrough": "error", "no-implicit-globals": "error", "no-loop-func": "error", "no-multi-str": "error", "no-self-compare": "error",
    "no-shadow": "error", "no-unneeded-ternary": "error", "no-unreachable": "error", "no-unsafe-negation": "error", "no-unused-expressions":
    ["error", {allowTernary: true}], "no-unused-vars": ["error", {argsIgnorePattern: "^_"}], "no-use-before-define": ["error", {functions: false}],
    "no-useless-concat": "off", "no-useless-return": "error", "no-var": "error", "object-shorthand": "error", "prefer-const": "error",
    "prefer-template": "off", "radix": "error", "complexity": ["error", 15], "max-depth": ["error", 3], "max-params": ["error", 6],
    "no-restricted-properties": ["error", ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map(property => ({property}))],
  },
}];

// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

// CompilerLab FILES: compiles that many generated sources with the C# compiler, keeps all that the compiler has made of them, prints one
// line, and waits for the end of standard input.
if (args.Length != 1 || !int.TryParse(args[0], NumberStyles.None, CultureInfo.InvariantCulture, out int files))
{
    Console.Error.WriteLine("usage: CompilerLab FILES");
    return 2;
}
CSharpCompilation compilation = Compile(files, out IReadOnlyList<Diagnostic> diagnostics);
foreach (Diagnostic d in diagnostics.Where(d => d.Severity == DiagnosticSeverity.Error).Take(5))
    Console.Error.WriteLine(d);
GC.Collect();
GC.Collect();
Console.WriteLine("compiled");
Console.In.ReadToEnd();
GC.KeepAlive(compilation);
return 0;

static CSharpCompilation Compile(int files, out IReadOnlyList<Diagnostic> diagnostics)
{
    string framework = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
    MetadataReference[] references = Directory.GetFiles(framework, "System*.dll")
        .Where(f => !Path.GetFileName(f).Contains("Native", StringComparison.Ordinal))
        .Select(f => (MetadataReference)MetadataReference.CreateFromFile(f)).ToArray();
    SyntaxTree[] trees = Enumerable.Range(0, files).Select(i => CSharpSyntaxTree.ParseText(Source(i, files), path: $"File{i}.cs")).ToArray();
    var options = new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary);
    CSharpCompilation compilation = CSharpCompilation.Create("Generated", trees, references, options);
    diagnostics = compilation.GetDiagnostics();
    // Semantic models and their nodes stay, as in an editor or an analyzer; the trees are walked so that their nodes exist.
    s_models.AddRange(trees.Select(t => compilation.GetSemanticModel(t)));
    foreach (SemanticModel model in s_models)
        foreach (SyntaxNode node in model.SyntaxTree.GetRoot().DescendantNodes())
            s_kept += model.GetSymbolInfo(node).Symbol is null ? 0 : 1;
    return compilation;
}

static string Source(int i, int files)
{
    var text = new StringBuilder("using System;\nusing System.Collections.Generic;\nusing System.Linq;\n\nnamespace Generated.Part");
    text.Append(i / 50).Append(";\n\npublic class Item").Append(i).Append("\n{\n");
    for (int m = 0; m < 12; m++)
    {
        text.Append($"    /// <summary>Member {m}.</summary>\n    public string Name{m} {{ get; set; }} = \"name {i} {m}\";\n");
        text.Append($"    private readonly Dictionary<string, List<int>> _index{m} = new();\n");
        text.Append($"    public int Sum{m}(IEnumerable<int> values, int start)\n    {{\n        int sum = start;\n");
        text.Append($"        foreach (int value in values.Where(v => v > {m} + start).Select(v => v * {i % 7}))\n");
        text.Append($"            sum += value % {m + 2} == 0 ? value : _index{m}.Count + Name{m}.Length;\n");
        text.Append($"        return sum + new Generated.Part{(i * 7 % files) / 50}.Item{i * 7 % files}().Name{m}.Length;\n    }}\n\n");
    }
    return text.Append("}\n").ToString();
}

static partial class Program
{
    static readonly List<SemanticModel> s_models = [];
    static int s_kept;
}
